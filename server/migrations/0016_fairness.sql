-- Jobs that ask others (code hosts, policies) are in classes of their own, so that they hold no slot that
-- work on the database needs. `waits_for` says whom they ask, such as the code host; an organization has
-- slots of its own for each. Workers of earlier versions leave these classes alone.
alter table jobs add column waits_for text check (length(waits_for) between 1 and 256);
alter table jobs drop constraint jobs_class_check;
alter table jobs add constraint jobs_class_check
  check (class in ('interactive', 'bulk', 'outside', 'outside_bulk')) not valid;
alter table jobs validate constraint jobs_class_check;
-- A process of an earlier version that queues a job again states a class of its own, and leaves `waits_for`.
alter table jobs add constraint jobs_outside_check
  check (class in ('interactive', 'bulk') or waits_for is not null) not valid;
alter table jobs validate constraint jobs_outside_check;

-- What waits since before the upgrade.
update jobs
set class = case class when 'bulk' then 'outside_bulk' else 'outside' end,
  waits_for = case
    when name in ('compliance.evaluate-repository', 'deployments.decide-by-policy') then 'policies'
    when name in ('codehosts.send-call', 'event codehosts.call.ended') then 'calls'
    when name in ('deployments.read-reviews', 'deployments.read-attempt') then 'deployments'
    else coalesce(payload ->> 'connection_id', payload ->> 'provider', 'host')
  end
where state <> 'running'
  and class in ('interactive', 'bulk')
  and name in (
    'ci.read-run-details', 'ci.read-run-failures', 'codehosts.read-object', 'codehosts.read-run',
    'codehosts.redeliver-failed', 'codehosts.remove-webhooks', 'codehosts.send-call', 'codehosts.synchronize',
    'compliance.evaluate-repository', 'compliance.read-repository-policies', 'deployments.decide-by-policy',
    'deployments.read-attempt', 'deployments.read-environment', 'deployments.read-reviews',
    'event codehosts.call.ended', 'provenance.record-changes', 'security.read-alert'
  );

create index jobs_ready_outside on jobs (
  class, coalesce(organization_id, '00000000-0000-0000-0000-000000000000'), waits_for, priority, run_at, id
) where state = 'ready' and waits_for is not null;

-- The lane whose request an upload waits for, and whose limit it counts in. An upload without one was
-- stored before, and counts in its own first lane.
alter table security_uploads add column waiting_lane text;
alter table security_uploads add constraint security_uploads_waiting_lane_check
  check (waiting_lane in ('verified', 'key', 'person', 'untrusted')) not valid;
alter table security_uploads validate constraint security_uploads_waiting_lane_check;
