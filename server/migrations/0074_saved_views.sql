-- Named filters and orders of a list, which a person keeps for themselves.
create table saved_views (
  org_id uuid not null,
  user_id uuid not null,
  id uuid not null,
  list text not null check (list in ('issues', 'findings')),
  name text not null check (length(name) between 1 and 100),
  -- The search parameters of the page, by name.
  search jsonb not null check (jsonb_typeof(search) = 'object' and pg_column_size(search) <= 16384),
  created_at timestamptz(3) not null,
  primary key (org_id, user_id, id),
  foreign key (org_id, user_id) references members (org_id, user_id) on delete cascade
);

create unique index saved_views_by_name on saved_views (org_id, user_id, list, lower(name));
