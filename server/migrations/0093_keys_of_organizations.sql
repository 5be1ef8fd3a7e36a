-- run: statement by statement
-- Keys that do not contain the organization cannot be kept by several database servers. The next
-- migration puts these in their place.
create unique index concurrently if not exists landings_of_organization on landings (org_id, id);
create index concurrently if not exists opened_gates_by_id on opened_gates (id);
