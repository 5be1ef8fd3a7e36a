import { Button, type ButtonProps } from '@mantine/core'
import { IconBrandGithub } from '@tabler/icons-react'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { api } from '../../api/client.ts'
import { useOrganization } from '../../api/session.ts'
import { SETUP_PATH } from './connection.ts'
import { OperatorsApp } from './operators-app.tsx'
import { SetupForm } from './setup-form.tsx'

/**
 * Leads to GitHub: to its page that installs the App, or first to the one that creates it. GitHub
 * sends the browser back here with the installation.
 */
export function ConnectButton(props: ButtonProps) {
  const { slug: org } = useOrganization()
  const app = api.useQuery('get', SETUP_PATH, { params: { path: { org } } }).data?.data
  const setup = useDialog<true>()
  const icon = <IconBrandGithub size={16} aria-hidden />
  if (app?.install_url)
    return (
      <Button component="a" href={app.install_url} leftSection={icon} {...props}>
        Connect GitHub
      </Button>
    )
  return (
    <>
      <Button leftSection={icon} onClick={() => setup.open(true)} loading={app === undefined} {...props}>
        Connect GitHub
      </Button>
      <Dialog dialog={setup} title="Connect GitHub" size="lg">
        {() => (app?.source ? <OperatorsApp onClose={setup.close} /> : <SetupForm onCancel={setup.close} />)}
      </Dialog>
    </>
  )
}
