-- One job of an organization asks a lone party, such as a code host, at a time, whichever workers look for
-- jobs at the same moment. Where two do now, the later one is given back to the queue; its worker ends it
-- without effect, as one that was taken for lost. It has no key, because another job may wait under it.
lock table jobs in share row exclusive mode;

update jobs
set state = 'ready', worker_id = null, key = null, attempts = greatest(attempts - 1, 0), updated_at = now()
from (
  select id, row_number() over (
    partition by waits_for, coalesce(organization_id, '00000000-0000-0000-0000-000000000000') order by updated_at, id
  ) as place
  from jobs
  where state = 'running'
    and starts_with(waits_for, 'alone ')
) as asking
where jobs.id = asking.id
  and asking.place > 1;

create unique index jobs_asking_alone on jobs (
  waits_for, coalesce(organization_id, '00000000-0000-0000-0000-000000000000')
) where state = 'running' and starts_with(waits_for, 'alone ');
