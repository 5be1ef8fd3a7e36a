-- earlier: 0033_transparency_log.sql 84801de0fc84f7b9682217a437f6228638bf2796c26fcb6294dc225d5e81d1df
-- The log had only its list of entries.
create index log_entries_pending on log_entries (id) where leaf_index is null;

-- The hashes of the log's Merkle tree, in tiles of 256 (c2sp.org/tlog-tiles). Tiles only grow.
create table log_tiles (
  level smallint not null check (level between 0 and 63),
  index bigint not null check (index >= 0),
  -- 1 to 256 hashes of 32 bytes.
  hashes bytea not null check (length(hashes) between 32 and 8192 and length(hashes) % 32 = 0),
  primary key (level, index)
);
-- Hashes cannot be compressed. Uncompressed, a part of a tile is read without the rest.
alter table log_tiles alter column hashes set storage external;

-- Every signed checkpoint. The primary key prevents two checkpoints of one size.
create table log_checkpoints (
  size bigint primary key check (size >= 0),
  root_hash bytea not null check (length(root_hash) = 32),
  -- The signed note (c2sp.org/tlog-checkpoint).
  note text not null,
  published_at timestamptz(3) not null
);

-- The log's name and its signing key. There is one row.
create table log_key (
  singleton boolean primary key default true check (singleton),
  -- The origin of the checkpoints, which is also the name of the key.
  origin text not null,
  -- The sealed private key (Ed25519, PKCS #8).
  sealed_private_key text not null,
  created_at timestamptz(3) not null
);
