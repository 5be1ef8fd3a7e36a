import { Text } from '@mantine/core'
import { Link } from '../../page/link.tsx'
import { type AuditEntry, nameOf } from './audit-vocabulary.ts'

/** The pages of objects by their type. */
const PAGES: Record<string, string> = {
  deployment: '/orgs/$org/deployments/$id',
  policy: '/orgs/$org/compliance/policies/$id',
  gate: '/orgs/$org/settings/gates/$id',
  issue: '/orgs/$org/security/issues/$id',
  finding: '/orgs/$org/security/findings/$id',
  security_upload: '/orgs/$org/security/uploads/$id',
}

/** What an entry is about, with a link where it has a page. */
export function ObjectLink({ org, entry: { object, details } }: { org: string; entry: AuditEntry }) {
  const page = PAGES[object.type]
  const name = typeof details.name === 'string' ? details.name : object.id
  const text = `${nameOf(object.type)} ${name}`
  if (page === undefined)
    return (
      <Text size="sm" lineClamp={2}>
        {text}
      </Text>
    )
  return (
    <Link to={page as never} params={{ org, id: object.id } as never} size="sm" lineClamp={2}>
      {text}
    </Link>
  )
}
