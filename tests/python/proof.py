"""Checks a .ply file with the standard library alone, from proto/book-format.md and nothing else.

Invariant: whatever is checked here is computed again here; no answer of a server is believed.
"""

import hashlib
import hmac


class Book:
    """The header, the lines, and a digest for each."""

    def __init__(self, file):
        rows = file.split("\n")
        assert rows.pop() == "", "a file ends in LF"
        end = next(at for at, row in enumerate(rows) if row.startswith("= "))
        self.header = rows[:end]
        self.texts = ["\n".join(self.header)] + rows[end + 1 : -1 : 2]
        self.digests = rows[end:-1:2]
        self.trailer = rows[-1]
        assert all(digest.startswith("= ") for digest in self.digests), "a digest follows each line"
        self.digests = [bytes.fromhex(digest[2:]) for digest in self.digests]

    def check_chain(self):
        """digest(1) = SHA-256(header), digest(n) = SHA-256(digest(n-1) + line n)."""
        assert len(self.texts) == len(self.digests)
        before = b""
        for number, (text, digest) in enumerate(zip(self.texts, self.digests), start=1):
            before = hashlib.sha256(before + text.encode()).digest()
            assert before == digest, f"entry {number} has another digest"
            assert number == 1 or text.split(" ")[0] == str(number), f"entry {number} is numbered otherwise"
        assert self.trailer == f"end {len(self.texts)} {before.hex()}", "the trailer is another"
        return before

    def word(self, name):
        """A header line's value."""
        return next(row[len(name) + 1 :] for row in self.header if row.startswith(name + " "))

    def param(self, name):
        """A parameter that is a number."""
        return int(self.word(f"param {name}"))

    def facts(self, text):
        """What an entry did, by key."""
        return dict(word.split("=", 1) for word in text.split(" ")[4:] if "=" in word)

    def seed(self):
        """The seed that the last entry reveals."""
        return bytes.fromhex(self.facts(self.texts[-1])["seed"])

    def check_commitment(self):
        """commitment = SHA-256("plybook-seed/1" + seed)."""
        seed = self.seed()
        assert hashlib.sha256(b"plybook-seed/1" + seed).hexdigest() == self.word("commitment"), "another seed was committed to"
        return seed

    def check_dice(self):
        """Every face of every throw; how many there were."""
        seed, seats = self.check_commitment(), sum(row.startswith("seat ") for row in self.header)
        standing, checked = [], 0
        for text in self.texts[1:]:
            number, _, actor, ask, what = text.split(" ")[:5]
            if ask == "undo":
                standing = [(seq, thrown) for seq, thrown in standing if seq < int(what)]
            if ask != "move":
                continue
            facts = self.facts(text)
            if "throw" in facts:
                draw = sum(thrown for _, thrown in standing)
                seat, faces = int(actor.split(":")[0]), [int(face) for face in facts["throw"].split(",")]
                want = [face(seed, seats, draw, seat, die, self.param("sides")) for die in range(len(faces))]
                assert faces == want, f"entry {number} shows {faces}, the seed says {want}"
                checked += len(faces)
            standing.append((int(number), "throw" in facts))
        return checked


def face(seed, seats, draw, seat, die, sides):
    """One die, by section 6 of the format."""
    nonces = hashlib.sha256(b"\0\0" * seats).digest()
    most = 2**64 // sides * sides
    for retry in range(2**16):
        message = b"plybook-dice/1" + draw.to_bytes(8, "big")
        message += b"".join(number.to_bytes(2, "big") for number in (seat, die, retry)) + nonces
        value = int.from_bytes(hmac.new(seed, message, hashlib.sha256).digest()[:8], "big")
        if value < most:
            return value % sides + 1
    raise AssertionError("no value in 65536 was even")
