-- The keys with which an organization signs statements. Retired keys are kept, because their signatures stay valid.
create table signing_keys (
  org_id uuid not null references organizations,
  -- Lower-case hexadecimal SHA-256 of the DER SubjectPublicKeyInfo.
  keyid text collate "C" not null check (keyid ~ '^[0-9a-f]{64}$'),
  -- The public key, as a PEM SubjectPublicKeyInfo.
  pem text not null,
  -- Either the sealed private key (PKCS #8), or the name of the key in AWS KMS.
  sealed_private_key text,
  kms_key text,
  created_at timestamptz(3) not null,
  retired_at timestamptz(3),
  primary key (org_id, keyid),
  check (num_nonnulls(sealed_private_key, kms_key) = 1)
);
create unique index signing_keys_current on signing_keys (org_id) where retired_at is null;
