import {
  BUILT_IN_ROLE_IDS,
  BUILT_IN_ROLES,
  type BuiltInRoleId,
  PERMISSION_TITLES,
  PERMISSIONS,
  type Permission,
} from '../../src/access/role.ts'
import type { Operation } from './openapi.ts'

const ROLES = BUILT_IN_ROLE_IDS.map((id) => BUILT_IN_ROLES[id].name)

const INTRODUCTION = `# Permissions

The role of a person in an organization determines what they can do in the
[application's API](application-api.md). This page is generated from the program by \`npm run openapi\`, and a test
compares it. Another test calls each operation with each role.

A custom role has any set of permissions. The built-in roles cannot be changed:`

const OF_OPERATIONS = `## Operations

An operation with several permissions requires one of them. **Recent sign-in** means that the person must have signed in
or confirmed their identity within the last 15 minutes. People who do not belong to the organization get 404
\`not_found\`, whatever their role elsewhere. Some operations check more than the permission: their descriptions in
\`/app/api/openapi.json\` state what.`

/**
 * docs/permissions.md: the permissions of the roles, and each operation with the roles that may
 * call it.
 */
export function permissionTable(operations: Operation[]): string {
  const tags = [...new Set(operations.map(({ tags: [tag = ''] }) => tag))]
  const sections = tags.map((tag) =>
    operationTable(
      tag,
      operations.filter(({ tags: [first] }) => first === tag),
    ),
  )
  return `${[INTRODUCTION, permissionsOfRoles(), OF_OPERATIONS, ...sections].join('\n\n')}\n`
}

function permissionsOfRoles(): string {
  const rows = PERMISSIONS.map((permission) => [
    PERMISSION_TITLES[permission],
    `\`${permission}\``,
    ...BUILT_IN_ROLE_IDS.map((role) => tick(BUILT_IN_ROLES[role].permissions.includes(permission))),
  ])
  return table(['', 'Permission', ...ROLES], rows)
}

function operationTable(tag: string, operations: Operation[]): string {
  const rows = operations.map((operation) => [
    operation.summary,
    `\`${operation.method} ${operation.path.replace('/app/api', '')}\``,
    accessOf(operation),
    operation['x-fresh-sign-in'] ? 'Recent sign-in' : '',
    ...BUILT_IN_ROLE_IDS.map((role) => tick(mayCall(operation, role))),
  ])
  return `### ${tag}\n\n${table(['', 'Below `/app/api`', 'Permission', '', ...ROLES], rows)}`
}

function accessOf({ 'x-permissions': permissions = [], security }: Operation): string {
  if (security.length === 0) return 'Nobody needs to be signed in'
  return permissions.length === 0 ? 'Everyone who is signed in' : permissions.map((name) => `\`${name}\``).join(' or ')
}

/** Whether a built-in role may call the operation in its own organization. */
export function mayCall({ 'x-permissions': permissions = [] }: Operation, role: BuiltInRoleId): boolean {
  const held: readonly Permission[] = BUILT_IN_ROLES[role].permissions
  return permissions.length === 0 || permissions.some((permission) => held.includes(permission))
}

function tick(isGiven: boolean): string {
  return isGiven ? '✓' : ''
}

function table(head: string[], rows: string[][]): string {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`.replace(/ {2,}/g, ' '))
    .join('\n')
}
