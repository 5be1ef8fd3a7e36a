-- Splits and merges of issues by people. They hold whatever the grouping rules say later.

-- A triage with the action split or merge.
create table issue_edits (
  org_id uuid not null,
  -- Of two edits that contain the same findings, the one with the higher number counts.
  no bigint generated always as identity,
  triage_id uuid not null,
  repository_no bigint not null,
  primary key (org_id, no),
  unique (org_id, triage_id),
  foreign key (org_id, triage_id) references triages (org_id, id),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id)
);

-- All findings of the issues that an edit changed. Findings on one side belong together, and findings on different sides
-- are kept apart. A split has moved the findings on side 1 to a new issue. Undoing an edit deletes its rows.
create table issue_pins (
  org_id uuid not null,
  edit_no bigint not null,
  finding_id uuid not null,
  side smallint not null check (side in (0, 1)),
  -- The grouping of the finding before the edit.
  issue_id uuid not null,
  grouping_code text not null,
  grouping_detail text,
  grouped_at timestamptz(3) not null,
  primary key (org_id, finding_id, edit_no),
  foreign key (org_id, edit_no) references issue_edits (org_id, no),
  foreign key (org_id, finding_id) references findings (org_id, id)
);
create index issue_pins_by_edit on issue_pins (org_id, edit_no);
create index issue_pins_by_issue on issue_pins (org_id, issue_id);

-- Buckets with findings of one issue, which a person merged. They are grouped together from then on. Buckets with the same
-- joined_as are joined.
create table joined_buckets (
  org_id uuid not null,
  repository_no bigint not null,
  bucket bytea not null check (length(bucket) = 16),
  joined_as bytea not null check (length(joined_as) = 16),
  primary key (org_id, repository_no, bucket),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id)
);
create index joined_buckets_by_set on joined_buckets (org_id, repository_no, joined_as);

-- Reports of repositories without edits skip the steps that edits need.
alter table reported_repositories add column has_edits boolean not null default false;

-- A finding that no rule joins with another one has a detail if a person split or merged its issue.
alter table findings
  drop constraint findings_check,
  add constraint findings_grouping_detail check (grouping_detail is not null or grouping_code = 'single');

-- Issues of a vulnerability.
create index security_issues_by_vulnerability on security_issues using gin (vuln_ids) where listed and vuln_ids <> '{}';
