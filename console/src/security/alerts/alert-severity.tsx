import { Badge } from '@mantine/core'
import { SeverityBadge } from '../../page/badges.tsx'
import { ALERT_SEVERITIES } from './alert-search.ts'

/** The severity of an alert, which is a word of its code host. */
export function AlertSeverity({ severity }: { severity: string }) {
  const known = ALERT_SEVERITIES.find((each) => each === severity)
  return known ? <SeverityBadge severity={known} /> : <Badge color="gray">{severity.slice(0, 30)}</Badge>
}
