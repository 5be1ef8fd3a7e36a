-- Retention removes the log of a regroup in batches. Once it has begun, the regroup cannot be undone.
alter table issue_regroups
  drop constraint issue_regroups_status_check,
  add constraint issue_regroups_status_check
    check (status in ('running', 'finished', 'undoing', 'undone', 'expired')) not valid;
alter table issue_regroups validate constraint issue_regroups_status_check;
