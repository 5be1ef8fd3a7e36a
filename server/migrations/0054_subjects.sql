-- run: statement by statement
-- What was built and can be named by digest (docs/inventory.md): what reports name without uploading
-- it, and what deployments deploy. `part` 0 is the subject itself, the others are the manifests of
-- its platforms.
create table if not exists ci_subjects (
  org_id uuid not null,
  report_id text collate "C" not null,
  position smallint not null check (position >= 0),
  part smallint not null check (part >= 0),
  run_id text collate "C" not null,
  name text not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  media_type text,
  platform text check ((platform is not null) = (part > 0)),
  -- When the report named it first. A report in its place that names it again keeps this.
  created_at timestamptz(3) not null,
  primary key (org_id, report_id, position, part)
);
create index if not exists ci_subjects_of_run on ci_subjects (org_id, run_id);
create index if not exists ci_subjects_by_digest on ci_subjects (org_id, sha256);

create table if not exists deployment_subjects (
  org_id uuid not null,
  deployment_id text collate "C" not null,
  position smallint not null check (position >= 0),
  part smallint not null check (part >= 0),
  name text not null,
  sha256 text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  media_type text,
  platform text check ((platform is not null) = (part > 0)),
  trust text not null check (trust in ('verified', 'self_reported', 'untrusted', 'ui')),
  -- Who stated it after the gate was opened; null for what the gate was opened with.
  stated_by text,
  primary key (org_id, deployment_id, position, part)
);
create index if not exists deployment_subjects_by_digest on deployment_subjects (org_id, sha256);

create index concurrently if not exists ci_artifacts_by_digest on ci_artifacts (org_id, sha256)
  where status = 'uploaded';
create index concurrently if not exists sboms_by_subject on sboms using gin (subjects jsonb_path_ops);
