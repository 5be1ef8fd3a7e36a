-- earlier: 0020_finding_filters.sql 707dab7f1cc284b1ba97f355ab3ab56450f077fda55fce310aa09f02cce11ae8
-- earlier: 0020_finding_filters.sql 5383347785ef549589979005a4a980a24babe1e4e06ad1ece3486ddeaf5e474b
-- earlier: 0020_finding_filters.sql a6efd9850d6d6ed2fb51bcdfe648ba97221f4b48c92f324b7a1e6ad01429e0b4
-- The indexes changed. They are replaced after they were built, because readers wait from then on.
create index findings_by_stream_new on findings (stream_id, id) include (facet);
create index findings_by_path_new on findings (stream_id, path collate "C") where path is not null;
drop index if exists findings_by_stream, findings_by_path, findings_by_repository;
alter index findings_by_stream_new rename to findings_by_stream;
alter index findings_by_path_new rename to findings_by_path;
