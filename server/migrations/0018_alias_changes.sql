-- Ids whose group of aliases an import has changed. The job that follows the import deletes them when it
-- adds the buckets of the issues that name them to issue_regroup_due (docs/adr/0012-alias-changes.md).
create table vulnerability_alias_changes (
  source text collate "C" not null,
  id text collate "C" not null,
  primary key (source, id)
);
