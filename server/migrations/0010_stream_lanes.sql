-- run: statement by statement
-- Who speaks (decisions.md §7): what one lane stated, no other lane closes or hides. A
-- stream without a lane was stored before: it has that of its newest report until the next report
-- of its tool, category and ref settles it. Its second lane continues it once (`continues_id`).
alter table finding_streams
  add column if not exists lane text,
  add column if not exists continues_id bigint,
  add column if not exists ended_at timestamptz(3),
  add column if not exists ended_reason text,
  add column if not exists ended_by_name text;

-- An older program that still runs meets the stored streams, and makes no second one of each.
alter table finding_streams
  alter column lane set default 'key',
  drop constraint if exists finding_streams_lane_check,
  add constraint finding_streams_lane_check
    check (lane in ('verified', 'key', 'person', 'untrusted')) not valid,
  drop constraint if exists finding_streams_ended_check,
  add constraint finding_streams_ended_check
    check (num_nulls(ended_at, ended_reason, ended_by_name) in (0, 3) and length(ended_reason) <= 1000) not valid;

alter table finding_streams validate constraint finding_streams_lane_check;

alter table finding_streams validate constraint finding_streams_ended_check;

create unique index concurrently if not exists finding_streams_by_lane
  on finding_streams (
    org_id, repository_no, coalesce(category, ''), branch_name(git_ref), tool, (origin = 'alert'), coalesce(lane, 'key')
  );

drop index concurrently if exists finding_streams_by_identity;

create index concurrently if not exists finding_streams_by_report
  on finding_streams (org_id, reported_at, id) where origin <> 'alert';

-- Each lane that sent a file: for which commit, when last, and who. An upload without a row was
-- stored before, and has the lane of its own `trust` and `origin`.
create table if not exists security_upload_lanes (
  org_id uuid not null,
  upload_id text collate "C" not null,
  lane text not null check (lane in ('verified', 'key', 'person', 'untrusted')),
  commit_sha text,
  tracked boolean not null,
  reported_at timestamptz(3) not null,
  -- Whether the sender may triage: then a VEX document takes effect without being confirmed.
  may_triage boolean not null,
  sender_id text not null,
  sender_name text not null check (length(sender_name) between 1 and 200),
  primary key (org_id, upload_id, lane),
  foreign key (org_id, upload_id) references security_uploads (org_id, id) on delete cascade
);

-- A document that nobody with Triage stands for is a proposal: it stands beside the one in effect.
alter table vex_documents
  add column if not exists lane text,
  add column if not exists pending boolean not null default false,
  add column if not exists stated_by_id text,
  add column if not exists stated_by_name text,
  drop constraint if exists vex_documents_lane_check,
  add constraint vex_documents_lane_check
    check (lane in ('verified', 'key', 'person', 'untrusted')) not valid;

alter table vex_documents validate constraint vex_documents_lane_check;

create unique index concurrently if not exists vex_documents_by_lane
  on vex_documents (
    org_id, repository_no, format, publisher, series, coalesce(category, ''), branch_name(git_ref),
    coalesce(lane, ''), pending
  );

drop index concurrently if exists vex_documents_by_stream;

alter table organizations
  add column if not exists accept_repository_vex boolean not null default false;
