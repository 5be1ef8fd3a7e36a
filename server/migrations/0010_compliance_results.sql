-- The newest verdict of one policy on one repository.
create table compliance_results (
  org_id uuid not null references organizations,
  id text collate "C" not null check (id ~ '^[A-Za-z0-9._:-]{1,128}$'),
  policy_id text not null,
  policy_name text not null,
  repository text not null check (length(repository) between 3 and 300),
  status text not null check (status in ('passing', 'failing', 'warning', 'not_evaluated')),
  details jsonb not null default '[]' check (jsonb_typeof(details) = 'array'),
  evaluated_at timestamptz(3) check (evaluated_at is not null or status = 'not_evaluated'),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  primary key (org_id, id)
);
create unique index compliance_results_by_repository on compliance_results (org_id, policy_id, repository);
create index compliance_results_by_creation on compliance_results (org_id, created_at, id);
create index compliance_results_by_status on compliance_results (org_id, status, created_at, id);
