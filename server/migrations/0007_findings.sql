-- A stream is what one tool says about one repository, category and ref. A report replaces its stream's last word,
-- and no other's. What every open finding shares with the newest report stands here, once, so that a report that
-- says nothing new writes no finding.
create table finding_streams (
  org_id uuid not null,
  id bigint generated always as identity,
  repository_no bigint not null,
  category text,
  -- As the newest report names it.
  git_ref text,
  tool text not null,
  tool_version text,
  source text not null,
  origin text not null,
  tracked boolean not null,
  commit_sha text,
  -- How many rules the newest report named, a report that was not allowed to close anything excepted that named fewer.
  rules_named integer,
  -- The newest report that was applied, by the time its upload was created. An older one that comes late changes nothing.
  reported_at timestamptz(3) not null,
  seen_at timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id)
);
create unique index finding_streams_by_identity
  on finding_streams (org_id, repository_no, coalesce(category, ''), branch_name(git_ref), tool);

create table findings (
  org_id uuid not null,
  id uuid not null,
  stream_id bigint not null,
  repository_no bigint not null,
  fingerprint bytea not null,
  fingerprint_method text not null,
  -- By which it is recognized where its place is all that changed; null where only the fingerprint identifies it.
  relocation bytea,
  -- A keyed hash of the flagged text, which other scanners flag as well; of a secret, of the secret itself.
  context bytea check (length(context) = 16),
  -- Equal findings of one report are told apart by their place among their equals.
  ordinal integer not null check (ordinal >= 0),
  -- Over all that a report may change: equal hashes, nothing to write.
  content_hash bytea not null,
  kind text not null check (kind in ('code', 'dependency', 'secret', 'iac', 'container', 'license', 'other')),
  type text,
  severity text not null check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  state text not null check (state in ('open', 'fixed', 'dismissed')),
  title text not null,
  description text,
  native_url text,
  path text,
  start_line integer,
  end_line integer,
  package_name text,
  package_version text,
  fixed_version text,
  purl text,
  vuln_ids text[] not null,
  cwes text[] not null,
  rule_id text,
  secret_type text,
  resource_name text,
  scanner_score real,
  cvss_version text,
  cvss_score real,
  cvss_vector text,
  -- Null while it is what the columns above say.
  intel_at_detection jsonb,
  issue_id uuid not null,
  -- Why it belongs to its issue, and since when. No detail where it stands alone.
  grouping_code text not null check (
    grouping_code in ('same_vulnerability', 'same_fingerprint', 'same_location', 'same_secret', 'single')
  ),
  grouping_detail text check ((grouping_detail is null) = (grouping_code = 'single')),
  grouped_at timestamptz(3) not null,
  dismiss_reason text,
  dismiss_comment text,
  dismissed_by_name text,
  dismissed_at timestamptz(3),
  dismissal_source text,
  first_seen_at timestamptz(3) not null,
  -- Null while the newest report of the stream holds the finding: then the stream's own apply. Of an open finding not null
  -- means that the newest report does not hold it and was not allowed to close it.
  last_seen_at timestamptz(3),
  last_commit_sha text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  -- No foreign key to the stream: its check of each row is a quarter of the cost of a first import, and findings are only
  -- written while their stream's row is locked, which nothing deletes.
  primary key (org_id, id),
  -- Every finding belongs to exactly one issue.
  foreign key (org_id, issue_id) references security_issues (org_id, id)
);
create unique index findings_by_identity on findings (org_id, stream_id, fingerprint, ordinal);
-- Ids are made at the moment of creation and sort by it: the primary key serves the list of all findings.
create index findings_by_repository on findings (org_id, repository_no, id);
create index findings_by_issue on findings (org_id, issue_id);
