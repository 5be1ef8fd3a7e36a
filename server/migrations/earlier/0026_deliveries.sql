-- earlier: 0026_deliveries.sql 6787d8efa4cc5a8669adeba6f95ff9b81ad97da823dc0b91f8e355f463cf0a74
-- earlier: 0026_deliveries.sql 377d6f6f2c12796a0217887de875d1d9fa57153147ae3b62e5040fae210e1679
-- Two indexes and a column changed.
create index if not exists codehost_deliveries_failed on codehost_deliveries (number) where status = 'failed';
drop index if exists codehost_deliveries_by_status, codehost_deliveries_by_age;
create index codehost_deliveries_by_age on codehost_deliveries using brin (received_at);
alter table codehost_calls add column if not exists number bigint not null generated always as identity;
