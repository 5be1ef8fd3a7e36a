import { Button } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import { useNavigate } from '@tanstack/react-router'
import { ConfirmForm } from '../../actions/confirm-form.tsx'
import { Dialog, useDialog } from '../../actions/dialog.tsx'
import { notifyDone } from '../../actions/notify.tsx'
import { useOrganization } from '../../api/session.ts'
import { useApiMutation } from '../../api/updates.ts'
import { pages } from '../../page/pages.ts'

/** Deletes a policy after a question. */
export function DeletePolicyButton({ policy: { id, name } }: { policy: { id: string; name: string } }) {
  const { slug: org } = useOrganization()
  const { mutateAsync: deletePolicy } = useApiMutation('delete', '/app/api/orgs/{org}/policies/{id}', [])
  const navigate = useNavigate()
  const dialog = useDialog<true>()
  const remove = async ({ reason }: { reason: string | null }) => {
    await deletePolicy({
      params: { path: { org, id }, query: reason === null ? {} : { reason } },
    })
    notifyDone(`${name} was deleted`)
    void navigate({ ...pages.policies(org), ignoreBlocker: true })
  }
  return (
    <>
      <Button
        variant="default"
        leftSection={<IconTrash size={16} aria-hidden />}
        onClick={() => dialog.open(true)}
        aria-haspopup="dialog"
      >
        Delete policy
      </Button>
      <Dialog dialog={dialog} title={`Delete ${name}`}>
        {() => (
          <ConfirmForm confirmLabel="Delete" asksReason send={remove} onClose={dialog.close}>
            Deployments are no longer checked against it, waiting ones included. Its versions stay stored: applying a
            file with the name {name} continues them. To keep the results without blocking, set its mode to monitor.
          </ConfirmForm>
        )}
      </Dialog>
    </>
  )
}
