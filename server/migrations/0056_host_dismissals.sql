-- Whether a dismissal at a code host counts, or is a proposal (trust.md §4).
alter table organizations add column host_dismissals text not null default 'accept'
  constraint organizations_host_dismissals check (host_dismissals in ('accept', 'propose'));

-- Whether the dismissal at the host is a proposal. `own_status` is then `open` and `own_delivery` `pending`, without a call.
alter table security_alerts add column is_proposed boolean not null default false;
