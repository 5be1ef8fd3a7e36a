-- Of too many open sign-ins, those of the network with the most are removed. It is a keyed hash; null
-- for those of earlier versions.
alter table sso_requests add column network_hmac bytea;
