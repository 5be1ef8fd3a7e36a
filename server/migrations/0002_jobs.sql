-- The queue of background jobs, which was graphile-worker's. Every process has to be stopped for this
-- migration, because earlier versions work with the tables that it removes.

-- A job waits (`ready`, or `scheduled` until `run_at`), runs, or has failed for good. A finished one
-- is deleted. `organization_id` is null for work of the system; it is not called `org_id`, because
-- jobs are neither exported nor distributed with the rows of an organization. `worker_id` names the
-- worker of a running job, which holds an advisory lock of that name as long as it lives.
create table jobs (
  id bigint generated always as identity primary key,
  name text not null check (length(name) between 1 and 128),
  class text not null check (class in ('interactive', 'bulk')),
  priority smallint not null,
  key text check (length(key) between 1 and 512),
  payload jsonb not null,
  organization_id uuid generated always as ((payload ->> 'org_id')::uuid) stored,
  state text not null check (state in ('ready', 'scheduled', 'running', 'failed')),
  run_at timestamptz not null,
  attempts smallint not null default 0,
  attempts_max smallint not null check (attempts_max >= 1),
  interruptions smallint not null default 0,
  worker_id text,
  last_error text,
  request_id text,
  traceparent text,
  updated_at timestamptz not null default now(),
  check ((state = 'running') = (worker_id is not null))
);
-- Jobs that wait under the same key are one.
create unique index jobs_key on jobs (key) where key is not null and state <> 'running';
create index jobs_ready on jobs (class, organization_id, priority, run_at, id) where state = 'ready';
create index jobs_scheduled on jobs (run_at) where state = 'scheduled';
create index jobs_running on jobs (worker_id) where state = 'running';
create index jobs_failed on jobs (updated_at) where state = 'failed';

-- When the clock last started each scheduled job; null before the first time.
create table job_schedules (
  name text primary key,
  last_started_at timestamptz
);

-- What was waiting. A job in progress was interrupted, because no worker runs.
do $$
begin
  if to_regclass('graphile_worker._private_jobs') is null then
    return;
  end if;
  insert into jobs (
    name, class, priority, key, payload, state, run_at, attempts, attempts_max, interruptions, worker_id, last_error,
    updated_at
  )
  select task.identifier, 'interactive', job.priority, job.key, job.payload::jsonb,
    case
      when job.locked_by is not null then 'running'
      when job.attempts >= job.max_attempts then 'failed'
      when job.run_at > now() then 'scheduled'
      else 'ready'
    end,
    job.run_at, job.attempts, job.max_attempts, coalesce((job.flags ->> 'interruptions')::smallint, 0),
    split_part(job.locked_by, ' ', 1), job.last_error, job.updated_at
  from graphile_worker._private_jobs job
  join graphile_worker._private_tasks task on task.id = job.task_id
  order by job.id;
  -- Events got the names of the catalogue.
  update jobs
  set name = 'event ' || renamed.name, key = replace(key, jobs.name || ' ', 'event ' || renamed.name || ' ')
  from (
    values
      ('event ci.run.finished', 'run.finished'), ('event ci.report.changed', 'report.changed'),
      ('event security.upload.finished', 'upload.finished'), ('event compliance.policy.applied', 'policy.changed'),
      ('event deployments.deployment.bypassed', 'deployment.bypassed')
  ) as renamed (earlier, name)
  where jobs.name = renamed.earlier;
  insert into job_schedules (name, last_started_at)
  select identifier, last_execution
  from graphile_worker._private_known_crontabs;
  drop schema graphile_worker cascade;
end
$$;
