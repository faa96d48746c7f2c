"""The contract as a Python program meets it: no generated file, the server describes itself.

Invariant: everything known about the messages comes from the server's reflection.
"""

import uuid

import grpc
from google.protobuf import descriptor_pool, message_factory
from google.rpc import error_details_pb2
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_status import rpc_status


class Refused(Exception):
    """A refusal with its type."""

    def __init__(self, code, reason, metadata, message):
        super().__init__(f"{code.name} {reason}: {message}")
        self.code, self.reason, self.metadata, self.message = code, reason, metadata, message


def refusal(error):
    """ErrorInfo of domain "plybook" out of a failed call; whatever else fails stays what it is."""
    status = rpc_status.from_call(error)
    for detail in status.details if status else []:
        info = error_details_pb2.ErrorInfo()
        if detail.Is(info.DESCRIPTOR) and detail.Unpack(info) and info.domain == "plybook":
            return Refused(error.code(), info.reason, dict(info.metadata), error.details())
    return error


class Service:
    """One service: a method is a Python method, its request the keyword arguments."""

    def __init__(self, channel, pool, name):
        self.methods = {}
        for method in pool.FindServiceByName(name).methods:
            request = message_factory.GetMessageClass(method.input_type)
            kind = channel.unary_stream if method.server_streaming else channel.unary_unary
            call = kind(
                f"/{name}/{method.name}",
                request_serializer=request.SerializeToString,
                response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
            )
            self.methods[method.name] = (request, call, method.server_streaming)

    def __getattr__(self, name):
        request, call, streams = self.methods[name]

        def frames(message):
            try:
                yield from call(message, timeout=60)
            except grpc.RpcError as error:
                raise refusal(error) from error

        def ask(**fields):
            message = request(**fields)
            if streams:
                return frames(message)
            try:
                return call(message, timeout=60)
            except grpc.RpcError as error:
                raise refusal(error) from error

        return ask


def connect(address):
    """Both services of a server."""
    channel = grpc.insecure_channel(address)
    pool = descriptor_pool.DescriptorPool(ProtoReflectionDescriptorDatabase(channel))
    return Service(channel, pool, "plybook.v1.GameService"), Service(channel, pool, "plybook.v1.AuditService")


def fresh():
    """A request id."""
    return str(uuid.uuid4())
