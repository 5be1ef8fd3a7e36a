alter table landings
  drop constraint landings_pkey,
  add constraint landings_pkey primary key using index landings_of_organization;
-- Their primary keys contain the organization. The ids are random.
alter table opened_gates drop constraint opened_gates_id_key;
alter table configured_gates drop constraint configured_gates_id_key;
