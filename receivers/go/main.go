// Receives webhooks. go run ., with WEBHOOK_SECRETS: the signing secrets, separated by spaces.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const maxBodyBytes = 2 << 20

// #region verify
const maxAge = 5 * time.Minute
// #endregion

// #region verify
func keyOf(secret string) []byte {
	encoded, isStandard := strings.CutPrefix(secret, "whsec_")
	if !isStandard {
		return []byte(secret)
	}
	key, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		log.Fatal("WEBHOOK_SECRETS has a secret that is not base64")
	}
	return key
}
// #endregion

// #region verify
// isSigned takes the raw bytes of the body. One matching signature of any secret is enough: so a rotation leaves no gap.
func isSigned(keys [][]byte, header http.Header, body []byte) bool {
	timestamp := header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if err != nil || time.Since(time.Unix(seconds, 0)).Abs() > maxAge {
		return false
	}
	for _, key := range keys {
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.", header.Get("webhook-id"), timestamp)
		mac.Write(body)
		wanted := []byte("v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		for _, given := range strings.Split(header.Get("webhook-signature"), " ") {
			if hmac.Equal(wanted, []byte(given)) {
				return true
			}
		}
	}
	return false
}
// #endregion

func main() {
	// #region verify
	var keys [][]byte
	for _, secret := range strings.Fields(os.Getenv("WEBHOOK_SECRETS")) {
		keys = append(keys, keyOf(secret))
	}
	// #endregion
	// In an application: a table, written in the transaction of the work.
	var done sync.Map
	receive := func(answer http.ResponseWriter, request *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(answer, request.Body, maxBodyBytes))
		if err != nil {
			answer.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		if !isSigned(keys, request.Header, body) {
			answer.WriteHeader(http.StatusUnauthorized)
			return
		}
		var event struct {
			Event string `json:"event"`
		}
		if err := json.Unmarshal(body, &event); err != nil {
			answer.WriteHeader(http.StatusBadRequest)
			return
		}
		id := request.Header.Get("webhook-id")
		if _, isDone := done.LoadOrStore(id, true); !isDone {
			fmt.Println("accepted", id, event.Event)
		}
		answer.WriteHeader(http.StatusNoContent)
	}
	port := os.Getenv("PORT")
	if port == "" {
		port = "8000"
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+port, http.HandlerFunc(receive)))
}
