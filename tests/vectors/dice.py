#!/usr/bin/env python3
"""Published dice vectors, computed from proto/book-format.md section 6 with Python's standard library alone.

    python3 tests/vectors/dice.py         > tests/vectors/dice.txt
    python3 tests/vectors/dice.py --page  > proto/dice-vectors.md

It shares no code with the server, so that the two check each other. Its answers never change.
"""

import hashlib
import hmac
import struct
import sys

SEEDS = [bytes(32), bytes(range(32)), hashlib.sha256(b"plybook").digest()]
TABLES = [(1, 1, 6), (2, 1, 6), (2, 1, 2), (3, 1, 20), (8, 1, 100), (2, 3, 6), (4, 8, 7)]  # seats, dice, sides
DRAWS = 64


def commitment(seed):
    return hashlib.sha256(b"plybook-seed/1" + seed).hexdigest()


def die(seed, nonces, draw, seat, number, sides):
    joined = hashlib.sha256(b"".join(struct.pack(">H", len(nonce)) + nonce for nonce in nonces)).digest()
    retry = 0
    while True:
        message = b"plybook-dice/1" + struct.pack(">QHHH", draw, seat, number, retry) + joined
        value = int.from_bytes(hmac.new(seed, message, hashlib.sha256).digest()[:8], "big")
        if value < 2**64 // sides * sides:
            return value % sides + 1
        retry += 1


def throws(seed, seats, dice, sides):
    nonces = [b""] * seats
    for draw in range(DRAWS):
        yield [die(seed, nonces, draw, draw % seats, number, sides) for number in range(dice)]


def text():
    print("# The first 64 throws of three seeds, made by dice.py beside this file.")
    print("# Throw number n is thrown by seat n mod seats; the dice of one throw are joined by commas.")
    for seed in SEEDS:
        print(f"seed {seed.hex()}")
        print(f"commitment {commitment(seed)}")
        for seats, dice, sides in TABLES:
            faces = " ".join(",".join(map(str, throw)) for throw in throws(seed, seats, dice, sides))
            print(f"throws {seats} {dice} {sides} {faces}")


def page():
    print("# Published dice vectors")
    print()
    print("For whoever checks dice with a program of their own: three seeds, their commitments, and the first 64")
    print("throws of one die with six sides in a game of two seats that throw in turn (throw 0 by seat 0, throw 1 by")
    print("seat 1, and so on). The derivation is section 6 of [book-format.md](book-format.md). These numbers never")
    print("change: a different derivation would be a new scheme with a new name in the header.")
    print()
    print("Made by `python3 tests/vectors/dice.py --page`; more tables are in `tests/vectors/dice.txt`.")
    for number, seed in enumerate(SEEDS, 1):
        faces = [str(throw[0]) for throw in throws(seed, 2, 1, 6)]
        print(f"\n## Seed {number}\n")
        print(f"- seed `{seed.hex()}`")
        print(f"- commitment `{commitment(seed)}`\n")
        print("```")
        for start in range(0, DRAWS, 16):
            print(" ".join(faces[start : start + 16]))
        print("```")


if __name__ == "__main__":
    page() if sys.argv[1:] == ["--page"] else text()
