-- What remains of a deleted organization: that it existed, and when it was deleted.
create table deleted_organizations (
  id uuid primary key,
  slug text not null,
  name text not null,
  created_at timestamptz(3) not null,
  deleted_at timestamptz(3) not null,
  deleted_rows bigint not null check (deleted_rows >= 0),
  deleted_files bigint not null check (deleted_files >= 0)
);
