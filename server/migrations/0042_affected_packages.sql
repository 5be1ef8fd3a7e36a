-- What advisories say about packages, as far as it takes to match components.
create table intel_affected (
  advisory_id text collate "C" not null references intel_advisories on delete cascade,
  -- Of the package in the record.
  position integer not null check (position >= 0),
  -- OSV's ecosystem and release (docs/inventory.md); the release is empty where there are none.
  ecosystem text collate "C" not null,
  release text collate "C" not null,
  -- What all spellings of the name share.
  package_key text collate "C" not null,
  name text collate "C" not null,
  ranges jsonb not null,
  versions text[] not null,
  urgency text collate "C",
  informational text collate "C",
  -- The record lists more than we keep, so that a version that is not found here is not known to be unaffected.
  is_truncated boolean not null,
  primary key (advisory_id, position)
);
create index intel_affected_by_package on intel_affected (ecosystem, package_key, release);

-- The vulnerabilities that an advisory of a distribution is about, if it lists several.
alter table intel_advisories add column upstream text[] collate "C" not null default '{}';
