import type { ButtonProps } from '@mantine/core'
import { type ComponentPropsWithRef, type ComponentType, Suspense, useState } from 'react'

/** The button of a menu, the same before and after the menu is loaded. */
export type MenuButton = ComponentType<ButtonProps & Omit<ComponentPropsWithRef<'button'>, keyof ButtonProps>>

type LazyMenuProps = {
  button: MenuButton
  /** Shows the button, takes the focus, and opens itself. */
  menu: ComponentType<{ button: MenuButton }>
  load: () => Promise<unknown>
}

/** A button whose menu is loaded when somebody reaches for it. */
export function LazyMenu({ button: Button, menu: Menu, load }: LazyMenuProps) {
  const [isWanted, setWanted] = useState(false)
  const prepare = () => void load().catch(() => {})
  const closed = (
    <Button
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={prepare}
      onFocus={prepare}
      onClick={() => setWanted(true)}
    />
  )
  if (!isWanted) return closed
  return (
    <Suspense fallback={closed}>
      <Menu button={Button} />
    </Suspense>
  )
}
