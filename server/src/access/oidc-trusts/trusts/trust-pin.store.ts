import type { Db, Tx } from '../../../platform/db/sql.ts'
import type { NamedId } from '../named-id.ts'

/** The id that a name had when a trust first let it in, and the other one that was refused last. */
export type TrustPin = NamedId & { pinned_at: Date; refused_id: string | null; refused_at: Date | null }

/** Names a trust of an organization. */
export type TrustKey = { org_id: string; trust_id: string }

/** Names of one trust. A token with a further one is refused. */
export const PINS_OF_TRUST_MAX = 20_000
/** Pins that a list shows of each trust. */
const PINS_SHOWN_MAX = 50

export async function listPins(db: Db, { org_id, trust_id }: TrustKey, names: readonly string[]): Promise<NamedId[]> {
  return db<NamedId[]>`
    select name, id
    from trust_pins
    where org_id = ${org_id}
      and trust_id = ${trust_id}
      and name = any(${[...names]})`
}

/**
 * Pins names, as long as the trust has less than its most. A name that is pinned already keeps its
 * id.
 */
export async function insertPins(
  db: Db,
  { org_id, trust_id }: TrustKey,
  pins: readonly NamedId[],
  now: Date,
): Promise<void> {
  await db`
    insert into trust_pins (org_id, trust_id, name, id, pinned_at)
    select ${org_id}::uuid, ${trust_id}::uuid, pin.name, pin.id, ${now}::timestamptz
    from unnest(${pins.map(({ name }) => name)}::text[], ${pins.map(({ id }) => id)}::text[]) pin (name, id)
    where (
      select count(*)
      from trust_pins
      where org_id = ${org_id}
        and trust_id = ${trust_id}
    ) < ${PINS_OF_TRUST_MAX}
    order by pin.name
    on conflict (org_id, trust_id, name) do nothing`
}

/** Notes that a token with another id was refused, once a minute. */
export async function updatePinRefused(
  db: Db,
  { org_id, trust_id }: TrustKey,
  { name, id }: NamedId,
  now: Date,
): Promise<void> {
  await db`
    update trust_pins
    set refused_id = ${id},
      refused_at = ${now}
    where org_id = ${org_id}
      and trust_id = ${trust_id}
      and name = ${name}
      and (refused_id is distinct from ${id} or refused_at < ${now}::timestamptz - interval '1 minute')`
}

/** Releases a name, or all (null). Returns how many, and at most `PINS_SHOWN_MAX` of them. */
export async function deletePins(tx: Tx, { org_id, trust_id }: TrustKey, name: string | null) {
  const [row] = await tx<[{ count: number; pins: NamedId[] }]>`
    with released as (
      delete from trust_pins
      where org_id = ${org_id}
        and trust_id = ${trust_id}
        ${name === null ? tx`` : tx`and name = ${name}`}
      returning name, id
    ),
    shown as (
      select name, id
      from released
      order by name
      limit ${PINS_SHOWN_MAX}
    )
    select (select count(*)::int from released) as count,
      coalesce((select json_agg(json_build_object('name', name, 'id', id)) from shown), '[]') as pins`
  return row
}

/** Pins of some trusts of an organization: of each at most `PINS_SHOWN_MAX`, refused ones first. */
export async function listShownPins(db: Db, orgId: string, trustIds: readonly string[]) {
  return db<(TrustPin & { trust_id: string })[]>`
    select trust.id as trust_id, pin.name, pin.id, pin.pinned_at, pin.refused_id, pin.refused_at
    from unnest(${[...trustIds]}::uuid[]) trust (id)
    cross join lateral (
      select name, id, pinned_at, refused_id, refused_at
      from trust_pins
      where org_id = ${orgId}
        and trust_id = trust.id
      order by refused_at desc nulls last, name
      limit ${PINS_SHOWN_MAX}
    ) pin
    order by pin.refused_at desc nulls last, pin.name`
}
