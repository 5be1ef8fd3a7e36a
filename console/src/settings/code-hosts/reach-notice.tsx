import { Alert } from '@mantine/core'
import { IconAlertTriangle } from '@tabler/icons-react'

/** Where the server has no https address: code hosts may not reach it. `host` is one's name. */
export function ReachNotice({ host }: { host: string }) {
  if (location.protocol !== 'http:') return null
  return (
    <Alert color="yellow" variant="light" icon={<IconAlertTriangle />} title={`${host} may not reach this server`}>
      {host} sends events to the address of this server. It needs an https address that {host} can reach
      (SHIPLOCK_BASE_URL).
    </Alert>
  )
}
