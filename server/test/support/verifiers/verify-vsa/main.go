// Command verify-vsa verifies a SLSA verification summary with the libraries of the in-toto project:
// the envelope (go-securesystemslib), the form of the statement (in-toto/attestation), and the
// contents that SLSA asks a consumer to compare (SLSA 1.2, "Verification Summary Attestation",
// "How to verify").
package main

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"

	summary "github.com/in-toto/attestation/go/predicates/vsa/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	"github.com/secure-systems-lab/go-securesystemslib/dsse"
	"google.golang.org/protobuf/encoding/protojson"
)

const (
	payloadType   = "application/vnd.in-toto+json"
	predicateType = "https://slsa.dev/verification_summary/v1"
)

var (
	key      = flag.String("key", "", "file of the public key (PEM)")
	subject  = flag.String("subject", "", "a subject, as <algorithm>:<digest>")
	resource = flag.String("resource-uri", "", "the resource that was verified")
	verifier = flag.String("verifier-id", "", "the verifier")
	level    = flag.String("level", "", "a level that must be among the verified ones")
)

func main() {
	flag.Parse()
	if err := verify(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, "refused:", err)
		os.Exit(1)
	}
	fmt.Println("verified")
}

func verify(path string) error {
	payload, err := verifyEnvelope(path)
	if err != nil {
		return err
	}
	statement := &intoto.Statement{}
	if err := protojson.Unmarshal(payload, statement); err != nil {
		return err
	}
	if err := statement.Validate(); err != nil {
		return err
	}
	if err := checkSubject(statement); err != nil {
		return err
	}
	return checkSummary(statement)
}

func verifyEnvelope(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	envelope := &dsse.Envelope{}
	if err := json.Unmarshal(text, envelope); err != nil {
		return nil, err
	}
	if envelope.PayloadType != payloadType {
		return nil, errors.New("another payload type")
	}
	public, err := readKey(*key)
	if err != nil {
		return nil, err
	}
	verifier, err := dsse.NewEnvelopeVerifier(public)
	if err != nil {
		return nil, err
	}
	if _, err := verifier.Verify(context.Background(), envelope); err != nil {
		return nil, err
	}
	return envelope.DecodeB64Payload()
}

func checkSubject(statement *intoto.Statement) error {
	algorithm, digest, _ := strings.Cut(*subject, ":")
	for _, found := range statement.GetSubject() {
		if found.GetDigest()[algorithm] == digest {
			return nil
		}
	}
	return errors.New("no such subject")
}

func checkSummary(statement *intoto.Statement) error {
	if statement.GetPredicateType() != predicateType {
		return errors.New("another predicate type")
	}
	text, err := protojson.Marshal(statement.GetPredicate())
	if err != nil {
		return err
	}
	found := &summary.VerificationSummary{}
	// The library does not know the field "version" of the verifier, which SLSA 1.1 added.
	options := protojson.UnmarshalOptions{DiscardUnknown: true}
	if err := options.Unmarshal(text, found); err != nil {
		return err
	}
	if found.GetVerifier().GetId() != *verifier {
		return errors.New("another verifier")
	}
	if found.GetResourceUri() != *resource {
		return errors.New("another resource")
	}
	if found.GetVerificationResult() != "PASSED" || !slices.Contains(found.GetVerifiedLevels(), *level) {
		return errors.New("not verified to this level")
	}
	return nil
}

// publicKey verifies ECDSA signatures with SHA-256. Its id is that of Shiplock.
type publicKey struct {
	key *ecdsa.PublicKey
	id  string
}

func readKey(path string) (*publicKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, errors.New("the key is not PEM")
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	public, ok := parsed.(*ecdsa.PublicKey)
	if !ok {
		return nil, errors.New("the key is not an ECDSA key")
	}
	id := sha256.Sum256(block.Bytes)
	return &publicKey{public, hex.EncodeToString(id[:])}, nil
}

func (k *publicKey) Verify(_ context.Context, data, signature []byte) error {
	digest := sha256.Sum256(data)
	if !ecdsa.VerifyASN1(k.key, digest[:], signature) {
		return errors.New("the signature does not fit")
	}
	return nil
}

func (k *publicKey) KeyID() (string, error)   { return k.id, nil }
func (k *publicKey) Public() crypto.PublicKey { return k.key }
