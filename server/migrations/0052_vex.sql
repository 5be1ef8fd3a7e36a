-- Documents that state which vulnerabilities matter in a repository (VEX), and their statements.
-- A document replaces the one of the same publisher, category and ref.

alter table security_uploads
  drop constraint security_uploads_format_check,
  drop constraint security_uploads_requested_format_check,
  add constraint security_uploads_format_check
    check (format in ('sarif', 'cyclonedx', 'spdx', 'openvex', 'csaf')),
  add constraint security_uploads_requested_format_check
    check (requested_format in ('auto', 'sarif', 'cyclonedx', 'spdx', 'openvex', 'csaf'));

create table vex_documents (
  org_id uuid not null,
  id uuid not null,
  repository_no bigint not null,
  format text not null check (format in ('openvex', 'csaf')),
  publisher text not null,
  -- CSAF: the id that all versions of the document share. OpenVEX documents have a new id each time, so it is empty.
  series text not null,
  category text,
  git_ref text,
  -- False for a document of another branch than the tracked one: it applies to findings of that branch only.
  tracked boolean not null,
  document_id text,
  document_version text,
  issued_at timestamptz(3) not null,
  reported_at timestamptz(3) not null,
  upload_id text collate "C" not null,
  statements integer not null check (statements >= 0),
  created_at timestamptz(3) not null,
  primary key (org_id, id),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id)
);

create unique index vex_documents_by_stream on vex_documents (
  org_id, repository_no, format, publisher, series, coalesce(category, ''), branch_name(git_ref)
);

create table vex_statements (
  org_id uuid not null,
  document_id uuid not null,
  position integer not null,
  status text not null check (status in ('not_affected', 'affected', 'fixed', 'under_investigation')),
  vuln_ids text[] not null check (cardinality(vuln_ids) > 0),
  package text,
  product text,
  justification text,
  comment text,
  stated_at timestamptz(3),
  primary key (org_id, document_id, position),
  foreign key (org_id, document_id) references vex_documents (org_id, id) on delete cascade deferrable initially deferred
);

-- What GET /v1/security/vex last returned for a repository, so that its version grows with each change.
create table vex_exports (
  org_id uuid not null,
  repository_no bigint not null,
  content_hash bytea not null check (length(content_hash) = 32),
  version integer not null check (version >= 1),
  created_at timestamptz(3) not null,
  changed_at timestamptz(3) not null,
  primary key (org_id, repository_no),
  foreign key (org_id, repository_no) references reported_repositories (org_id, id)
);
