-- run: statement by statement
-- One job of an organization asks a lone party, such as a code host, at a time, whichever workers look for jobs
-- at the same moment. The worker that takes such a job writes here whom it asks. Workers of earlier versions leave
-- the column empty, so that what they run is in nobody's way while the index is made, and after that.
alter table jobs add column if not exists asks_alone text;

create unique index concurrently if not exists jobs_asking_alone on jobs (
  asks_alone, coalesce(organization_id, '00000000-0000-0000-0000-000000000000')
) where state = 'running' and asks_alone is not null;
