-- Signed statements. They never change.
create table statements (
  org_id uuid not null,
  kind text not null check (kind in ('change', 'lineage', 'verification')),
  -- The id of the change or deployment.
  subject_id text collate "C" not null,
  -- SHA-256 of the facts that the statement states, without the time of issue.
  facts bytea not null check (length(facts) = 32),
  keyid text collate "C" not null,
  -- SHA-256 of the payload, as `sha256:` and hexadecimal digits.
  statement_digest text not null,
  -- The DSSE envelope as JSON text.
  envelope text not null,
  issued_at timestamptz(3) not null,
  primary key (org_id, kind, subject_id, facts),
  foreign key (org_id, keyid) references signing_keys (org_id, keyid)
);
