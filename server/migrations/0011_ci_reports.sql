-- What one job of a run attempt says about its work. The same attempt, job, matrix and name is the same report.
create table ci_reports (
  org_id uuid not null,
  id text collate "C" not null check (id ~ '^[1-9][0-9]{0,2}-[0-9a-f]{24}$'),
  run_id text collate "C" not null,
  attempt smallint not null,
  job_name text not null,
  matrix jsonb,
  runner text,
  name text not null,
  summary text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, id),
  -- The attempt stands in one of two tables; that it exists is checked while the run is locked.
  foreign key (org_id, run_id) references ci_runs (org_id, id)
);
create index ci_reports_by_run on ci_reports (org_id, run_id);

create table ci_attestations (
  org_id uuid not null,
  id uuid not null,
  report_id text collate "C" not null,
  kind text not null check (kind in ('test-results', 'coverage', 'sbom', 'scan', 'custom')),
  name text not null,
  data jsonb not null,
  status text not null check (status in ('pass', 'fail', 'warn', 'info')),
  -- What we read ourselves in the file that data.artifact names, beside what the job says.
  parsed jsonb,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, report_id) references ci_reports (org_id, id)
);
create unique index ci_attestations_by_name on ci_attestations (org_id, report_id, kind, name);

create table ci_artifacts (
  org_id uuid not null,
  id text collate "C" not null,
  report_id text collate "C" not null,
  run_id text collate "C" not null,
  path text not null,
  size bigint not null check (size >= 0),
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  status text not null check (status in ('pending', 'uploaded', 'rejected')),
  reason text check ((reason is not null) = (status = 'rejected')),
  put_until timestamptz(3) not null,
  -- Whoever reads such files has been told that this one is there.
  announced boolean not null default false,
  created_at timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, report_id) references ci_reports (org_id, id)
);
create unique index ci_artifacts_by_path on ci_artifacts (org_id, report_id, path);
create index ci_artifacts_by_run on ci_artifacts (org_id, run_id);
create index ci_artifacts_pending on ci_artifacts (put_until) where status = 'pending';

-- Objects that no row refers to any more. They go once nobody can PUT to their address again.
create table abandoned_objects (
  object_key text primary key,
  remove_after timestamptz(3) not null
);
create index abandoned_objects_by_time on abandoned_objects (remove_after);
