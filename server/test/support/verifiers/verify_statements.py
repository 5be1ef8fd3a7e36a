"""Verifies envelopes with packages of PyPI: python verify_statements.py CHECK KEY FILE ...

CHECK is "signature" (securesystemslib) or "form" (in-toto-attestation). KEY is a PEM file. Prints
one line for each file: "accepted", or "refused" with the reason.
"""

import base64
import hashlib
import json
import sys

from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_pem_public_key
from google.protobuf import json_format
from in_toto_attestation.v1 import statement_pb2
from in_toto_attestation.v1.statement import Statement
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey


def verify_signature(envelope, pem):
    public = load_pem_public_key(pem)
    der = public.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    key = SSlibKey.from_crypto(public, keyid=hashlib.sha256(der).hexdigest())
    Envelope.from_dict(envelope).verify([key], 1)


def verify_form(envelope, _pem):
    payload = base64.b64decode(envelope["payload"], validate=True)
    statement = json_format.Parse(payload, statement_pb2.Statement())
    Statement.copy_from_pb(statement).validate()


def main(check, key_file, *files):
    verify = {"signature": verify_signature, "form": verify_form}[check]
    with open(key_file, "rb") as file:
        pem = file.read()
    for name in files:
        try:
            with open(name, "rb") as file:
                verify(json.load(file), pem)
            print("accepted")
        except Exception as error:  # each of the packages has exceptions of its own
            print("refused", type(error).__name__, str(error).replace("\n", " "))


main(*sys.argv[1:])
