-- Other repositories that the jobs of a trust speak about, and in which lane.
alter table oidc_trusts
  add column speaks_for text[] not null default '{}' check (cardinality(speaks_for) <= 50),
  add column speaks_as text not null default 'uploaded' check (speaks_as in ('uploaded', 'verified'));
