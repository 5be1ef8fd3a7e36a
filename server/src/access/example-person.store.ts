import type { Tx } from '../platform/db/sql.ts'

/**
 * What an account consists of. Everything else that refers to a user shows that they did something.
 */
const OF_ACCOUNTS = [
  'user_passwords',
  'user_totp',
  'recovery_codes',
  'passkeys',
  'user_sessions',
  'known_browsers',
  'sso_identities',
  'links',
]

/**
 * The fictional people of an organization, and the accounts that are private to it. Fictional
 * people who took part in another one become real.
 */
export async function deleteExamplePeople(tx: Tx, orgId: string): Promise<number> {
  const references = await readReferencesToUsers(tx)
  for (const { name, column } of references.filter(({ name }) => !OF_ACCOUNTS.includes(name)))
    await tx`
      update users person
      set example_of = null
      where example_of = ${orgId}
        and exists (select from ${tx(name)} where ${tx(column)} = person.id)`
  for (const { name, column } of references.filter(({ name }) => OF_ACCOUNTS.includes(name)))
    await tx`
      delete from ${tx(name)}
      where ${tx(column)} in (select id from users where example_of = ${orgId} or private_to = ${orgId})`
  const { count } = await tx`
    delete from users
    where example_of = ${orgId}
      or private_to = ${orgId}`
  return count
}

async function readReferencesToUsers(tx: Tx): Promise<{ name: string; column: string }[]> {
  return tx<{ name: string; column: string }[]>`
    select class.relname as name, attribute.attname as column
    from pg_constraint reference
    join pg_class class on class.oid = reference.conrelid
    join pg_attribute attribute on attribute.attrelid = class.oid and attribute.attnum = any(reference.conkey)
    where reference.contype = 'f'
      and reference.confrelid = 'users'::regclass
    order by class.relname, attribute.attname`
}
