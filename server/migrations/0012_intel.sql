-- What the world knows of vulnerabilities. It is the same for every organization, so these tables have no org_id.

-- One row for each source. An import holds its source's row to its end, so that two imports of one source queue up.
create table intel_sources (
  source text primary key check (source in ('kev', 'epss', 'osv')),
  -- The time that the source itself states: of the catalogue, of the scores, of the newest record.
  as_of timestamptz(3),
  version text,
  records integer not null default 0 check (records >= 0),
  imported_at timestamptz(3)
);
insert into intel_sources (source) values ('kev'), ('epss'), ('osv');

-- CISA's catalogue of known exploited vulnerabilities.
create table intel_kev (
  cve_id text collate "C" primary key,
  date_added date not null,
  due_date date,
  ransomware boolean not null
);

-- FIRST's exploit prediction: the probability of an attack within 30 days, and the share of scores at or below it.
create table intel_epss (
  cve_id text collate "C" primary key,
  score real not null check (score between 0 and 1),
  percentile real not null check (percentile between 0 and 1)
);

-- OSV records, as far as we use them.
create table intel_advisories (
  id text collate "C" primary key,
  modified timestamptz(3) not null,
  -- Over all that we keep of the record: equal hashes, nothing to write.
  content_hash bytea not null,
  withdrawn boolean not null,
  severity text check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  cvss_version text collate "C",
  cvss_score real,
  cvss_vector text
);

-- Packages of an advisory that a fixed version exists for.
create table intel_fixes (
  advisory_id text collate "C" not null references intel_advisories on delete cascade,
  -- The type of its package URL.
  type text collate "C" not null,
  name text collate "C" not null,
  -- Every affected range ends in a fix.
  fixes_all boolean not null,
  -- The numbers of the highest fixed version; null where it has no such form.
  latest_fix numeric[],
  primary key (advisory_id, type, name)
);

-- What a source says of ids: these two are one vulnerability.
create table vulnerability_assertions (
  source text collate "C" not null,
  id text collate "C" not null,
  alias text collate "C" not null check (alias <> id),
  primary key (source, id, alias)
);
create index vulnerability_assertions_by_id on vulnerability_assertions (id);
create index vulnerability_assertions_by_alias on vulnerability_assertions (alias);

-- Derived from the assertions: the groups of ids that are one vulnerability, each id of a group of two or more.
create table vulnerability_aliases (
  id text collate "C" primary key,
  canonical_id text collate "C" not null
);
create index vulnerability_aliases_by_group on vulnerability_aliases (canonical_id, id);
