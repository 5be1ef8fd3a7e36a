-- What became of issues after their findings were grouped: which were joined, which came apart, and why.
create table issue_history (
  org_id uuid not null,
  id bigint generated always as identity,
  issue_id uuid not null,
  at timestamptz(3) not null,
  -- merged: its members are the other issue's now. split: its members were the other issue's before.
  event text not null check (event in ('merged', 'split')),
  other_issue_id uuid not null,
  -- A sentence.
  detail text not null,
  -- No foreign key to the issue: an undone regroup removes the issues that it made, and what happened stays.
  primary key (org_id, id),
  foreign key (org_id) references organizations
);
create index issue_history_by_issue on issue_history (org_id, issue_id, id);
create index issue_history_by_other_issue on issue_history (org_id, other_issue_id, id);

-- Buckets in which vulnerabilities got other aliases since they were grouped. They wait here from the import that says so
-- until they are grouped anew.
create table issue_regroup_due (
  org_id uuid not null,
  repository_no bigint not null,
  bucket bytea not null check (length(bucket) = 16),
  -- Who says it.
  source text not null,
  primary key (org_id, repository_no, bucket)
);

-- One row for each time that an organization's groups are computed anew, and how far it is.
create table issue_regroups (
  org_id uuid not null references organizations,
  id uuid not null,
  status text not null check (status in ('running', 'finished', 'undoing', 'undone')),
  -- Repositories before this one are done; of this one what stands in buckets up to the other.
  repository_no bigint not null default 0,
  bucket bytea,
  batches integer not null default 0 check (batches >= 0),
  findings bigint not null default 0,
  moved bigint not null default 0,
  restated bigint not null default 0,
  merged bigint not null default 0,
  split bigint not null default 0,
  started_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, id)
);
create unique index issue_regroups_unfinished on issue_regroups (org_id) where status in ('running', 'undoing');

-- What a regroup changed, batch by batch, as it was before: so that it can be undone.
create table issue_regroup_findings (
  org_id uuid not null,
  regroup_id uuid not null,
  batch integer not null,
  finding_id uuid not null,
  issue_id uuid not null,
  grouping_code text not null,
  grouping_detail text,
  grouped_at timestamptz(3) not null,
  -- Where the regroup put it.
  new_issue_id uuid not null,
  primary key (org_id, regroup_id, batch, finding_id),
  foreign key (org_id, regroup_id) references issue_regroups (org_id, id)
);

create table issue_regroup_issues (
  org_id uuid not null,
  regroup_id uuid not null,
  batch integer not null,
  repository_no bigint not null,
  issue_id uuid not null,
  -- The regroup made it; of those nothing but this and split_from is known.
  is_new boolean not null,
  bucket bytea,
  kind text,
  severity smallint,
  status text,
  vuln_ids text[],
  canonical_id text collate "C",
  split_from uuid,
  merged_into uuid,
  primary key (org_id, regroup_id, batch, issue_id),
  foreign key (org_id, regroup_id) references issue_regroups (org_id, id)
);
