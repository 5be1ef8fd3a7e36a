-- run: statement by statement
-- CycloneDX documents without components whose vulnerabilities all have an analysis are VEX documents
-- (decisions.md §8).
alter table vex_documents
  drop constraint if exists vex_documents_format_check,
  add constraint vex_documents_format_check check (format in ('openvex', 'csaf', 'cyclonedx')) not valid;
alter table vex_documents validate constraint vex_documents_format_check;
alter table triages
  drop constraint if exists triages_source_check,
  add constraint triages_source_check check (source in ('shiplock', 'openvex', 'csaf', 'cyclonedx')) not valid;
alter table triages validate constraint triages_source_check;

-- What was read in such documents as findings ends when the rules of issues are followed.
insert into issue_rule_changes (org_id) select id from organizations on conflict do nothing;
