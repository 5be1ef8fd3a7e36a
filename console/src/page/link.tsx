import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { createLink, type LinkComponent } from '@tanstack/react-router'
import { type AnchorHTMLAttributes, forwardRef, type ReactNode } from 'react'
import type { Icon } from './badges.tsx'

type LinkProps = AnchorProps & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof AnchorProps>
const AnchorElement = forwardRef<HTMLAnchorElement, LinkProps>((props, ref) => <Anchor ref={ref} {...props} />)

/** A link to a page of the console: `<Link {...pages.runs(org)}>`. */
export const Link: LinkComponent<typeof AnchorElement> = createLink(AnchorElement)

type ButtonLinkProps = ButtonProps & Omit<AnchorHTMLAttributes<HTMLAnchorElement>, keyof ButtonProps>
const ButtonElement = forwardRef<HTMLAnchorElement, ButtonLinkProps>((props, ref) => (
  <Button component="a" ref={ref} variant="default" {...props} />
))

/** A link that looks like a button. */
export const ButtonLink: LinkComponent<typeof ButtonElement> = createLink(ButtonElement)

/**
 * A link to another site. Addresses come from reports and code hosts: anything but http and https
 * is shown as text.
 */
export function ExternalLink({ href, children }: { href: string | null; children: ReactNode }) {
  if (!isWebAddress(href)) return <span>{children}</span>
  return (
    // Underlined, because it stands in sentences.
    <Anchor href={href} target="_blank" rel="noreferrer noopener" underline="always">
      {children}
    </Anchor>
  )
}

type ExternalButtonProps = { href: string | null; icon: Icon; children: ReactNode }

/** A link to another site that looks like a button. Nothing where there is no address. */
export function ExternalButton({ href, icon: IconOfButton, children }: ExternalButtonProps) {
  if (!isWebAddress(href)) return null
  return (
    <Button
      component="a"
      href={href}
      target="_blank"
      rel="noreferrer noopener"
      variant="default"
      leftSection={<IconOfButton size={16} aria-hidden />}
    >
      {children}
    </Button>
  )
}

/** Whether an address from data can be opened. */
export function isWebAddress(href: string | null): href is string {
  return href !== null && /^https?:\/\//i.test(href)
}
