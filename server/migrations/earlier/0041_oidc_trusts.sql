-- earlier: 0041_oidc_trusts.sql 77300193d94d394909a7513d949b615e3e450399828b1babb0e42c6236fecbe8
-- Ids became unique among all organizations.
alter table oidc_trusts add unique (id);
