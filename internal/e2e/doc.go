// Package e2e holds the end-to-end tests: the real Temporal development server,
// workers as processes of their own that are really killed, and the Temporal
// CLI's commands as the README has them. It holds no code of the product.
package e2e
