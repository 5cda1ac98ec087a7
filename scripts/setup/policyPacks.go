// Part of the language host that scripts/setup builds: without it `pulumi up --policy-pack DIR` does not work there.
package main

import (
	"errors"
	"os"
	"os/exec"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/protobuf/encoding/protowire"
)

// RunPlugin starts a policy pack, as the language hosts of newer versions do; the one of v3.68.0 refuses.
func (host *nodeLanguageHost) RunPlugin(
	req *pulumirpc.RunPluginRequest, server pulumirpc.LanguageRuntime_RunPluginServer,
) error {
	// v3.68.0 does not know these fields of the request: `info`, with its `program_directory`, and `kind`.
	fields := req.ProtoReflect().GetUnknown()
	folder, kind := string(textField(textField(fields, 5), 2)), string(textField(fields, 6))
	if kind != "analyzer" || folder == "" {
		return errors.New("not supported: this language host starts only programs and policy packs")
	}
	_, stdout, stderr, err := rpcutil.MakeRunPluginStreams(server, false)
	if err != nil {
		return err
	}
	node := func(args ...string) *exec.Cmd {
		command := exec.CommandContext(server.Context(), "node", args...)
		command.Dir, command.Env, command.Stderr = folder, append(os.Environ(), req.GetEnv()...), stderr
		return command
	}
	script, err := node("-p", "require.resolve('@pulumi/pulumi/cmd/run-policy-pack')").Output()
	if err == nil {
		command := node(append(append([]string{strings.TrimSpace(string(script))}, req.GetArgs()...), ".")...)
		command.Stdout = stdout
		err = command.Run()
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code := &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(exit.ExitCode())}
		return server.Send(&pulumirpc.RunPluginResponse{Output: code})
	}
	return err
}

// textField is the content of a field that has a length (a text, a message); nil where the message lacks it.
func textField(message []byte, number protowire.Number) []byte {
	for len(message) > 0 {
		found, kind, length := protowire.ConsumeField(message)
		if length < 0 {
			return nil
		}
		if found == number && kind == protowire.BytesType {
			_, _, tag := protowire.ConsumeTag(message)
			content, _ := protowire.ConsumeBytes(message[tag:length])
			return content
		}
		message = message[length:]
	}
	return nil
}
