"""gRPC's own generator of Python stubs as a plugin that buf can call: grpcio-tools has it inside its protoc only.

Reads a CodeGeneratorRequest from standard input, and writes a CodeGeneratorResponse.
"""

import pathlib
import subprocess
import sys
import tempfile

from google.protobuf.compiler import plugin_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorSet


def main() -> None:
    request = plugin_pb2.CodeGeneratorRequest.FromString(sys.stdin.buffer.read())
    features = plugin_pb2.CodeGeneratorResponse.Feature.FEATURE_PROTO3_OPTIONAL
    response = plugin_pb2.CodeGeneratorResponse(supported_features=features)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        contract = folder / "contract.binpb"
        contract.write_bytes(FileDescriptorSet(file=request.proto_file).SerializeToString())
        out = folder / "out"
        out.mkdir()
        protoc = [sys.executable, "-m", "grpc_tools.protoc", f"--descriptor_set_in={contract}", f"--grpc_python_out={out}"]
        subprocess.run([*protoc, *request.file_to_generate], check=True)
        for path in sorted(out.rglob("*.py")):
            response.file.add(name=path.relative_to(out).as_posix(), content=path.read_text())
    sys.stdout.buffer.write(response.SerializeToString())


if __name__ == "__main__":
    main()
