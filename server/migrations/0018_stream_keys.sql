-- run: statement by statement
-- What tells streams apart (decisions.md §7): the tool without version and edition, the format
-- family, and the image or other subject. A stream of reports without `tool_family` was stored
-- before: the next report of its scope gives it its key, and streams with one key go on in the
-- newest. Those of alerts have none.
alter table finding_streams
  add column if not exists tool_family text,
  add column if not exists format_family text,
  add column if not exists subject text,
  -- What the last complete report states of itself, or else the first one: with what the next one
  -- is compared. Null before the first report since.
  add column if not exists facts jsonb,
  -- How many files were its newest report. 0 for streams that were stored before, until the next.
  add column if not exists reports integer not null default 0,
  -- What the newest report lacks without closing it. Null if it closed all it lacks.
  add column if not exists held jsonb;

-- A program of the version before makes streams without keys, and would read a report into all that
-- its tool has. It cannot make them any more: its job fails, and one of this version does it.
alter table finding_streams
  drop constraint if exists finding_streams_have_key,
  add constraint finding_streams_have_key
    check (tool_family is not null or origin = 'alert' or seen_at > '-infinity') not valid;

create unique index concurrently if not exists finding_streams_by_key
  on finding_streams (
    org_id, repository_no, coalesce(category, ''), branch_name(git_ref), coalesce(tool_family, ' ' || tool),
    coalesce(format_family, ''), coalesce(subject, ''), (origin = 'alert'), coalesce(lane, 'key')
  );

drop index concurrently if exists finding_streams_by_lane;

-- Whether the sender states that the report is complete, or that it is not. Null: it says nothing.
alter table security_upload_lanes
  add column if not exists complete boolean,
  add column if not exists confirmed boolean not null default false;

-- The findings that reports of the upload lack and that stay, and why.
alter table security_uploads
  add column if not exists held jsonb;
