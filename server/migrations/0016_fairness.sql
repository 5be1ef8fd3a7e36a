-- run: statement by statement
-- Jobs that ask others (code hosts, policies) are in classes of their own, so that they hold no slot that
-- work on the database needs. `waits_for` says whom they ask, such as the code host; an organization has
-- slots of its own for each. Workers of earlier versions leave these classes alone. What they have queued
-- keeps its class until it has run.
alter table jobs
  add column if not exists waits_for text,
  drop constraint if exists jobs_class_check,
  add constraint jobs_class_check check (class in ('interactive', 'bulk', 'outside', 'outside_bulk')) not valid,
  drop constraint if exists jobs_waits_for_check,
  add constraint jobs_waits_for_check check (length(waits_for) between 1 and 256) not valid;

alter table jobs validate constraint jobs_class_check;

alter table jobs validate constraint jobs_waits_for_check;

-- A process of an earlier version that queues a job again states a class of its own, and leaves `waits_for`.
alter table jobs
  drop constraint if exists jobs_outside_check,
  add constraint jobs_outside_check check (class in ('interactive', 'bulk') or waits_for is not null) not valid;

alter table jobs validate constraint jobs_outside_check;

create index concurrently if not exists jobs_ready_outside on jobs (
  class, coalesce(organization_id, '00000000-0000-0000-0000-000000000000'), waits_for, priority, run_at, id
) where state = 'ready' and waits_for is not null;

-- The lane whose request an upload waits for, and whose limit it counts in. An upload without one was
-- stored before, and counts in its own first lane.
alter table security_uploads
  add column if not exists waiting_lane text,
  drop constraint if exists security_uploads_waiting_lane_check,
  add constraint security_uploads_waiting_lane_check
    check (waiting_lane in ('verified', 'key', 'person', 'untrusted')) not valid;

alter table security_uploads validate constraint security_uploads_waiting_lane_check;
